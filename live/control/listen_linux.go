package control

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxPath is the most bytes of a socket's path (sun_path of unix(7), less the 0 at its
// end).
const maxPath = 107

// Listen returns the socket at path, of mode 0600. Its folder, which Listen makes if need be,
// must be its owner's alone (0700). Listen replaces a socket that a scheduler has left behind;
// it returns an error if a scheduler still listens there.
func Listen(path string) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("control socket %s: %d bytes, want at most %d: choose a shorter state directory", path, len(path), maxPath)
	}
	if err := private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = c.Close()
		return nil, fmt.Errorf("control socket %s: another scheduler listens there", path)
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("control socket %s: something else is there, want nothing", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil { // until now only the folder protected it
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

// private makes a folder that only its owner may enter. It returns an error if the folder
// exists and others may enter it.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("state directory %s: mode %04o, want 0700: others could use it", dir, mode)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("state directory %s: belongs to uid %d, want %d", dir, owner.Uid, os.Geteuid())
	}
	return nil
}

// peerUID asks the kernel which user opened a connection (SO_PEERCRED of unix(7)).
func peerUID(c net.Conn) (int, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return 0, fmt.Errorf("not known of a %T", c)
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var asked error
	err = raw.Control(func(fd uintptr) {
		cred, asked = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	switch {
	case err != nil:
		return 0, err
	case asked != nil:
		return 0, asked
	}
	return int(cred.Uid), nil
}
