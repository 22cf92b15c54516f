package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ErrDead is returned by operations after a crash.
var ErrDead = errors.New("the machine has crashed")

// A Disk simulates the disk of a directory, with crashes and power failures. The file system must not reuse inode
// numbers; tmpfs qualifies.
type Disk struct {
	root string

	mu      sync.Mutex
	full    bool
	dead    bool
	crashIn int // 0: never
	writes  int
	outside bool                         // another process writes
	files   map[uint64]*file             // by inode
	names   map[string]map[string]uint64 // synced, with their inodes, by directory
	wrote   func(name string)            // called with each synced path; may be nil
	losses  Losses
}

type file struct {
	synced []byte
	since  []write // by SQLite since the last sync
}

type write struct {
	at   int64
	data []byte
}

var mounted sync.Map

// Mount returns the disk of a directory, which SQLite uses below it until Unmount.
func Mount(root string) *Disk {
	register()
	d := &Disk{root: root, files: map[uint64]*file{}, names: map[string]map[string]uint64{}}
	mounted.Store(root, d)
	return d
}

// Unmount removes the disk; its files stay.
func (d *Disk) Unmount() { mounted.Delete(d.root) }

func diskOf(path string) *Disk {
	var found *Disk
	mounted.Range(func(root, d any) bool {
		if strings.HasPrefix(path, root.(string)+"/") {
			found = d.(*Disk)
		}
		return found == nil
	})
	return found
}

// OnSync sets a function that is called with each path whose data was written to the disk.
func (d *Disk) OnSync(synced func(path string)) { d.wrote = synced }

// SetFull sets whether the disk is full.
func (d *Disk) SetFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// CrashIn makes the disk crash before the nth write or sync; 0: never.
func (d *Disk) CrashIn(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashIn = n
}

// Crash prevents all writes until Restart.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.crashIn = true, 0
}

// Dead reports whether the disk has crashed.
func (d *Disk) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Writes returns the number of writes and syncs so far.
func (d *Disk) Writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes
}

// Restart permits writes again.
func (d *Disk) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.crashIn = false, 0
}

// Outside calls do as another process, which a crash does not affect.
func (d *Disk) Outside(do func()) {
	set := func(is bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.outside = is
	}
	set(true)
	defer set(false)
	do()
}

// use counts a write or sync. The caller holds the lock.
func (d *Disk) use(grows bool) error {
	switch {
	case !d.outside:
		d.writes++
	case d.full && grows:
		return syscall.ENOSPC
	default:
		return nil
	}
	if d.crashIn > 0 {
		d.crashIn--
		d.dead = d.dead || d.crashIn == 0
	}
	switch {
	case d.dead:
		return ErrDead
	case d.full && grows:
		return syscall.ENOSPC
	}
	return nil
}

// Sync syncs a file or directory. It fails after a crash (ErrDead), and for a file on a full disk.
func Sync(f *os.File) error {
	d := diskOf(f.Name())
	if d == nil {
		return f.Sync()
	}
	return d.sync(f)
}

func (d *Disk) sync(f *os.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := d.use(!info.IsDir()); err != nil {
		return err
	}
	if info.IsDir() {
		err = d.syncNames(f.Name())
	} else {
		err = d.syncData(f.Name(), inode(info))
	}
	if err == nil && d.wrote != nil {
		d.wrote(f.Name())
	}
	return err
}

func (d *Disk) syncData(path string, ino uint64) error {
	text, err := os.ReadFile(path)
	if err == nil {
		d.files[ino] = &file{synced: text}
	}
	return err
}

func (d *Disk) syncNames(dir string) error {
	now, err := names(dir)
	if err == nil {
		d.names[filepath.Clean(dir)] = now
	}
	return err
}

func names(dir string) (map[string]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]uint64{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			all[e.Name()] = inode(info)
		}
	}
	return all, nil
}

func inode(info os.FileInfo) uint64 { return info.Sys().(*syscall.Stat_t).Ino }
