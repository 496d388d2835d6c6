//! Signals: termination removes temporary files, and a fault in a mapped file becomes an error.
//!
//! SIGINT, SIGTERM and SIGHUP remove temporary files, and then end the program as they would have. A handler may do next to
//! nothing, so it writes the signal's number into a pipe, and a thread at the other end does the rest. Signals are not
//! blocked: a program that this one starts would inherit that, and not stop when it is asked to.
//!
//! SIGBUS comes from the very instruction that reads a mapped file beyond its end: somebody has shortened it. There is
//! no value to go on with, so the run ends with an error like any other.

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

    use bidilel_data::{mapped_at, remove_temporaries};

    const STOPPING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    /// Where the handler writes; negative before there is a pipe.
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    /// Has signals handled from here on. Where the system has no pipe or thread left, they end the program as ever.
    pub(crate) fn install() {
        handle(libc::SIGBUS, report_fault as *const () as usize, libc::SA_SIGINFO | libc::SA_ONSTACK);
        let Ok((reader, writer)) = std::io::pipe() else { return };
        let started = std::thread::Builder::new().name("signals".to_owned()).spawn(move || wait(reader));
        if started.is_err() {
            return;
        }
        // It stays open for as long as the program runs.
        PIPE.store(writer.into_raw_fd(), Ordering::SeqCst);
        for signal in STOPPING {
            // What was to be ignored, as under `nohup`, stays so.
            if !is_ignored(signal) {
                handle(signal, forward as *const () as usize, libc::SA_RESTART);
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
    extern "C" fn forward(signal: libc::c_int) {
        let byte = signal.to_ne_bytes();
        #[expect(unsafe_code, reason = "writing to a pipe is one of the few things that a handler may do")]
        // SAFETY: the bytes live until the call is over; a pipe that is full or gone changes nothing.
        unsafe {
            libc::write(PIPE.load(Ordering::SeqCst), byte.as_ptr().cast(), byte.len());
        }
    }

    /// Waits for a signal, cleans up, and ends the program by that signal.
    fn wait(mut reader: PipeReader) {
        let mut signal = [0; size_of::<libc::c_int>()];
        if reader.read_exact(&mut signal).is_err() {
            return;
        }
        let signal = libc::c_int::from_ne_bytes(signal);
        remove_temporaries(|| {
            handle(signal, libc::SIG_DFL, 0);
            #[expect(unsafe_code, reason = "a call of the C library without pointers")]
            // SAFETY: the default action of these signals ends the program.
            unsafe {
                libc::kill(libc::getpid(), signal);
            }
            // It ends while this thread waits, and nothing new gets a temporary name until then.
            std::thread::sleep(std::time::Duration::from_mins(1));
        });
    }

    /// Ends the program with an error if the fault is in a mapped file, and as it would have ended otherwise.
    extern "C" fn report_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        #[expect(unsafe_code, reason = "the system passes a valid pointer to a handler with SA_SIGINFO")]
        // SAFETY: see the reason; SIGBUS has an address.
        let address = unsafe { (*info).si_addr() }.addr();
        // The faulting thread was reading feature rows: it holds no lock, and is not within the allocator.
        if let Some(path) = mapped_at(address) {
            if REPORTED.swap(true, Ordering::SeqCst) {
                // Another thread is reporting it.
                std::thread::sleep(std::time::Duration::from_mins(1));
            }
            let error = bidilel_data::Error::Changed { path };
            let mut stderr = std::io::stderr();
            // A closed standard error cannot be reported.
            let _ = writeln!(stderr, "error: {error}: it became shorter");
            if let Some(hint) = error.hint() {
                let _ = writeln!(stderr, "\nhint: {hint}");
            }
            remove_temporaries(|| exit(1));
        }
        // The faulting instruction runs again after the return, and ends the program.
        handle(signal, libc::SIG_DFL, 0);
    }

    fn exit(status: libc::c_int) {
        #[expect(unsafe_code, reason = "ends the program at once: nothing is to run after a fault")]
        // SAFETY: it does not return.
        unsafe {
            libc::_exit(status)
        }
    }
}
