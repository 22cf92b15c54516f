//go:build linux

package simdisk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ErrDead is returned by the operations of a disk after a crash.
var ErrDead = errors.New("simdisk: the machine has crashed")

// A Disk is what is known of the files below a directory. Make one with Mount. It must be on a file
// system that never gives the number of a removed file to another one: tmpfs is one.
type Disk struct {
	root string

	mu      sync.Mutex
	full    bool
	dead    bool
	crashIn int                          // writes and syncs until the crash; 0: none is to come
	writes  int                          // writes and syncs so far
	outside bool                         // another process writes
	files   map[uint64]*file             // by inode
	names   map[string]map[string]uint64 // synced names of files, with their inodes, by directory
	wrote   func(name string)            // is told what is synced; nil: nobody
	losses  Losses                       // of power failures so far
}

// A file is what the disk knows of one file.
type file struct {
	synced []byte
	since  []write // of SQLite, in order, since the file was synced
}

// A write is one of SQLite's; it cuts the file off at its offset if data is nil.
type write struct {
	at   int64
	data []byte
}

// mounted are the disks that there are, by their directories.
var mounted sync.Map

// Mount returns the disk of a directory. SQLite databases that are opened below it from now on are
// on it. Unmount it when it is not used any more.
func Mount(root string) *Disk {
	register()
	d := &Disk{root: root, files: map[uint64]*file{}, names: map[string]map[string]uint64{}}
	mounted.Store(root, d)
	return d
}

// Unmount forgets the disk; its files stay.
func (d *Disk) Unmount() { mounted.Delete(d.root) }

// diskOf returns the disk of a path; nil if there is none.
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

// OnSync sets a function that is called with the path of each file or directory that was synced.
func (d *Disk) OnSync(synced func(path string)) { d.wrote = synced }

// SetFull makes the disk full, or not.
func (d *Disk) SetFull(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

// CrashIn lets a crash come before the nth write or sync from now; 0: none.
func (d *Disk) CrashIn(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashIn = n
}

// Crash lets nothing be written any more until Restart.
func (d *Disk) Crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.crashIn = true, 0
}

// Dead reports whether a crash has come.
func (d *Disk) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// Writes returns how many writes and syncs there were.
func (d *Disk) Writes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes
}

// Restart lets files be written again.
func (d *Disk) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.crashIn = false, 0
}

// Outside calls do, which does what another process does: a crash of this one does not concern it.
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

// use counts a write or sync, and returns an error if it cannot be made. The caller has the lock.
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

// Sync syncs a file or directory. It returns an error if the disk is full and the file is new, as its
// data may have had no room, and ErrDead after a crash. A file below no disk is synced as usual.
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

// names returns the files of a directory, with their inodes.
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
