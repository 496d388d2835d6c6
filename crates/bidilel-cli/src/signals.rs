//! Signals: termination removes temporary files, and a fault in a mapped file becomes an error.
//!
//! A handler may do next to nothing: no lock is safe in it, and so neither is a message. It writes what has happened into
//! a pipe, and a thread at the other end does the rest. Signals are not blocked: a program that this one starts would
//! inherit that, and not stop when it is asked to.
//!
//! SIGINT, SIGTERM and SIGHUP remove temporary files, and then end the program as they would have.
//!
//! SIGBUS comes from the very instruction that reads a mapped file beyond its end: somebody has shortened it. There is
//! no value to go on with, so the faulting thread waits in its handler while the run ends with an error like any other.

#[cfg(unix)]
pub(crate) use unix::install;

/// Other systems remove nothing, and refuse to shorten a mapped file.
#[cfg(not(unix))]
pub(crate) fn install() {}

#[cfg(unix)]
mod unix {
    use std::io::{PipeReader, Read, Write};
    use std::mem::MaybeUninit;
    use std::os::fd::IntoRawFd;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
    use std::time::Duration;

    use bidilel_data::{mapped_at, remove_temporaries};

    const STOPPING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    /// How often a faulting thread asks whether its fault is anybody's.
    const VERDICT_POLL: Duration = Duration::from_millis(5);
    /// Bytes of a signal's number and of the address of a fault.
    const RECORD_BYTES: usize = size_of::<usize>() * 2;
    /// Where handlers write; negative before there is a pipe.
    static PIPE: AtomicI32 = AtomicI32::new(-1);
    /// Whether a fault was outside of all mapped files.
    static FOREIGN_FAULT: AtomicBool = AtomicBool::new(false);

    /// Has signals handled from here on. Where the system has no pipe or thread left, they end the program as ever.
    pub(crate) fn install() {
        let Ok((reader, writer)) = std::io::pipe() else { return };
        let started = std::thread::Builder::new().name("signals".to_owned()).spawn(move || wait(reader));
        if started.is_err() {
            return;
        }
        // It stays open for as long as the program runs.
        PIPE.store(writer.into_raw_fd(), Ordering::SeqCst);
        handle(libc::SIGBUS, pass_fault as *const () as usize, libc::SA_SIGINFO | libc::SA_ONSTACK);
        for signal in STOPPING {
            // What was to be ignored, as under `nohup`, stays so.
            if !is_ignored(signal) {
                handle(signal, pass as *const () as usize, libc::SA_RESTART);
            }
        }
    }

    fn handle(signal: libc::c_int, handler: usize, flags: libc::c_int) {
        #[expect(unsafe_code, reason = "a call of the C library on memory that is ours")]
        // SAFETY: zeros are a valid `sigaction`; the handler has the type that the flags ask for, and outlives all.
        unsafe {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = handler;
            action.sa_flags = flags;
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
    }

    fn is_ignored(signal: libc::c_int) -> bool {
        #[expect(unsafe_code, reason = "a call of the C library on memory that is ours")]
        // SAFETY: zeros are a valid `sigaction`, which is only written to.
        unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            libc::sigaction(signal, ptr::null(), &raw mut before);
            before.sa_sigaction == libc::SIG_IGN
        }
    }

    /// Passes a signal to the thread.
    extern "C" fn pass(signal: libc::c_int) {
        send(signal, 0);
    }

    /// Passes a fault to the thread, and waits: either the program ends meanwhile, or the fault is not in a mapped file.
    extern "C" fn pass_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        #[expect(unsafe_code, reason = "the system passes a valid pointer to a handler with SA_SIGINFO")]
        // SAFETY: see the reason; SIGBUS has an address.
        let address = unsafe { (*info).si_addr() }.addr();
        send(signal, address);
        while !FOREIGN_FAULT.load(Ordering::SeqCst) {
            std::thread::sleep(VERDICT_POLL);
        }
        // The faulting instruction runs again after the return, and now ends the program.
    }

    fn send(signal: libc::c_int, address: usize) {
        let mut record = [0; RECORD_BYTES];
        record[..size_of_val(&signal)].copy_from_slice(&signal.to_ne_bytes());
        record[size_of::<usize>()..].copy_from_slice(&address.to_ne_bytes());
        #[expect(unsafe_code, reason = "writing to a pipe is one of the few things that a handler may do")]
        // SAFETY: the bytes live until the call is over; a pipe takes so few of them at once or not at all.
        unsafe {
            libc::write(PIPE.load(Ordering::SeqCst), record.as_ptr().cast(), record.len());
        }
    }

    /// The thread: waits for signals and does what they ask for.
    fn wait(mut reader: PipeReader) {
        let mut record = [0; RECORD_BYTES];
        while reader.read_exact(&mut record).is_ok() {
            let (signal, address) = record.split_at(size_of::<usize>());
            let signal = libc::c_int::from_ne_bytes(std::array::from_fn(|byte| signal[byte]));
            let address = usize::from_ne_bytes(std::array::from_fn(|byte| address[byte]));
            if signal == libc::SIGBUS {
                report_fault(address);
            } else {
                stop(signal);
            }
        }
    }

    /// Cleans up, and ends the program by a signal.
    fn stop(signal: libc::c_int) {
        remove_temporaries(|| {
            handle(signal, libc::SIG_DFL, 0);
            #[expect(unsafe_code, reason = "a call of the C library without pointers")]
            // SAFETY: the default action of these signals ends the program.
            unsafe {
                libc::kill(libc::getpid(), signal);
            }
            // It ends while this thread waits, and nothing new gets a temporary name until then.
            std::thread::sleep(Duration::from_mins(1));
        });
    }

    /// Ends the program with an error if a fault is in a mapped file, and lets it end as it would have otherwise.
    ///
    /// Whoever faults was reading features: that thread holds no lock that is asked for here.
    fn report_fault(address: usize) {
        let Some(path) = mapped_at(address) else {
            handle(libc::SIGBUS, libc::SIG_DFL, 0);
            FOREIGN_FAULT.store(true, Ordering::SeqCst);
            return;
        };
        let error = bidilel_data::Error::Changed { path };
        let mut stderr = std::io::stderr();
        // A closed standard error cannot be reported.
        let _ = writeln!(stderr, "error: {error}: it became shorter");
        if let Some(hint) = error.hint() {
            let _ = writeln!(stderr, "\nhint: {hint}");
        }
        remove_temporaries(|| exit(1));
    }

    fn exit(status: libc::c_int) {
        #[expect(unsafe_code, reason = "ends the program at once: nothing is to run after a fault")]
        // SAFETY: it does not return.
        unsafe {
            libc::_exit(status)
        }
    }
}
