package control

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const maxPath = 107

// An Access states who may connect to a socket.
type Access struct {
	mode   fs.FileMode
	group  int // of the socket; noGroup: no change
	folder fs.FileMode
}

// Private allows the owner and root.
func Private() Access { return Access{0o600, noGroup, 0o700} }

// OfGroup allows the owner, root, and members of the group gid. All users may enter the socket's directory.
func OfGroup(gid int) Access { return Access{0o660, gid, 0o711} }

// Public allows everybody.
func Public() Access { return Access{0o666, noGroup, 0o711} }

// Listen listens on a unix socket at path with access a. It creates the directory if needed, and replaces a socket that
// no scheduler uses.
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
			return nil, fmt.Errorf("control socket %s: the path is not a socket; remove it", path)
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
		err = os.Chmod(path, a.mode) // until now the directory and the check of peers protected it
	}
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

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

const mostQuiet = 64

type quietList struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (q *quietList) note(c net.Conn, state http.ConnState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.conns = slices.DeleteFunc(q.conns, func(o net.Conn) bool { return o == c })
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	q.conns = append(q.conns, c)
	if len(q.conns) > mostQuiet {
		_ = q.conns[0].Close()
		q.conns = q.conns[1:]
	}
}
