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

// An Access says who may connect to a socket.
type Access struct {
	mode   fs.FileMode
	group  int         // that the socket is given to; nobody: it stays in the owner's
	folder fs.FileMode // that of its folder may have
}

// Private is for the owner, and root, alone.
func Private() Access { return Access{0o600, nobody, 0o700} }

// OfGroup is for the members of a group, too. Others may pass through the socket's folder.
func OfGroup(gid int) Access { return Access{0o660, gid, 0o711} }

// Public is for everybody.
func Public() Access { return Access{0o666, nobody, 0o711} }

// Listen returns the socket at path. Its folder, which Listen makes if need be, must be its owner's alone, but for
// users who may pass through it if the socket is for others, too. Listen replaces a socket that a scheduler has left
// behind; it returns an error if a scheduler still listens there.
func Listen(path string, a Access) (net.Listener, error) {
	if len(path) > maxPath {
		return nil, fmt.Errorf("control socket %s: %d bytes, want at most %d: choose a shorter state directory", path, len(path), maxPath)
	}
	if err := private(filepath.Dir(path), a.folder); err != nil {
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
	err = os.Lchown(path, -1, a.group)
	if err == nil {
		err = os.Chmod(path, a.mode) // until now only the folder, and who asks who connects, protected it
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

// private makes a folder of a mode. It returns an error if the folder exists and others may do more in it than
// the mode says.
func private(dir string, most fs.FileMode) error {
	if err := os.MkdirAll(dir, most); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if mode := info.Mode().Perm(); mode&^most != 0 {
		return fmt.Errorf("state directory %s: mode %04o, want %04o: others could use it", dir, mode, most)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Geteuid() {
		return fmt.Errorf("state directory %s: belongs to uid %d, want %d", dir, owner.Uid, os.Geteuid())
	}
	return nil
}
