//! What the program does when the system tells it to stop, or cannot give it the bytes of a file.
//!
//! SIGINT, SIGTERM and SIGHUP remove temporary files, and then end the program as they would have. They are blocked in all
//! threads and waited for in one of their own, where anything may be done; a handler may do next to nothing.
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
    use std::io::Write;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, Ordering};

    use bidilel_data::{mapped_at, remove_temporaries};

    const STOPPING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    /// To be called before the first thread is started: threads inherit which signals are blocked.
    pub(crate) fn install() {
        #[expect(unsafe_code, reason = "calls of the C library on memory that is ours")]
        // SAFETY: `set` is initialised by `sigemptyset`; no other thread runs yet; the handler is of the type that
        // SA_SIGINFO asks for, and lives as long as the program.
        let set = unsafe {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = report_fault as *const () as usize;
            // The handler of Rust itself, which tells of overflowing stacks, has a stack of its own; so has this one.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
            let mut set = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
            libc::sigemptyset(&raw mut set);
            for signal in STOPPING {
                let mut before = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                libc::sigaction(signal, ptr::null(), &raw mut before);
                // What was to be ignored, as under `nohup`, stays so.
                if before.sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(&raw mut set, signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            set
        };
        let started = std::thread::Builder::new().name("signals".to_owned()).spawn(move || wait(set));
        if started.is_err() {
            unblock(&set);
        }
    }

    /// Waits for a signal, cleans up, and ends the program by that signal.
    fn wait(set: libc::sigset_t) {
        let mut signal = 0;
        #[expect(unsafe_code, reason = "a call of the C library on memory that is ours")]
        // SAFETY: both point to values that live until the call is over.
        let waited = unsafe { libc::sigwait(&raw const set, &raw mut signal) };
        if waited != 0 {
            return unblock(&set);
        }
        remove_temporaries(|| {
            unblock(&set);
            #[expect(unsafe_code, reason = "a call of the C library without pointers")]
            // SAFETY: nothing handles these signals, so the default action ends the program.
            unsafe {
                libc::kill(libc::getpid(), signal);
            }
            // It ends while this thread waits, and nothing new gets a temporary name until then.
            std::thread::sleep(std::time::Duration::from_mins(1));
        });
    }

    fn unblock(set: &libc::sigset_t) {
        #[expect(unsafe_code, reason = "a call of the C library on memory that is ours")]
        // SAFETY: the set lives until the call is over.
        unsafe {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set, ptr::null_mut());
        }
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
                // Another thread is telling of it.
                std::thread::sleep(std::time::Duration::from_mins(1));
            }
            let error = bidilel_data::Error::Changed { path };
            let mut stderr = std::io::stderr();
            // Nobody is left to tell if stderr is gone too.
            let _ = writeln!(stderr, "error: {error}: it became shorter");
            if let Some(hint) = error.hint() {
                let _ = writeln!(stderr, "\nhint: {hint}");
            }
            remove_temporaries(|| exit(1));
        }
        #[expect(unsafe_code, reason = "calls of the C library without pointers")]
        // SAFETY: the default action is set; the faulting instruction runs again after the return, and ends the program.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }

    fn exit(status: libc::c_int) {
        #[expect(unsafe_code, reason = "ends the program at once: nothing is to run after a fault")]
        // SAFETY: it does not return.
        unsafe {
            libc::_exit(status)
        }
    }
}
