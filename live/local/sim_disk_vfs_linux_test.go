package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Functions of SQLite's own VFS.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, sync int32) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
)

type handle struct {
	disk *Disk
	path string
	ino  uint64
	own  uintptr
}

var vfs struct {
	once    sync.Once
	own     sqlite3.Tsqlite3_vfs
	mu      sync.Mutex          // guards methods and keep
	methods map[uintptr]uintptr // by address of the original
	open    sync.Map            // *handle, by SQLite's file
	keep    []any               // referenced by SQLite
}

func address(f any) uintptr {
	vfs.keep = append(vfs.keep, f)
	type pair [2]uintptr
	return (*pair)(unsafe.Pointer(&f))[1]
}

func function[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&at)) }

func bytesAt(at uintptr, n int32) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&at))), n)
}

func pointer[T any](address uintptr) *T { return (*T)(*(*unsafe.Pointer)(unsafe.Pointer(&address))) }

// register does not affect databases outside disks.
func register() {
	vfs.once.Do(func() {
		tls := libc.NewTLS()
		defer tls.Close()
		sqlite3.Xsqlite3_initialize(tls)
		vfs.methods = map[uintptr]uintptr{}
		own := sqlite3.Xsqlite3_vfs_find(tls, 0)
		vfs.own = *pointer[sqlite3.Tsqlite3_vfs](own)
		size := unsafe.Sizeof(vfs.own)
		mine := libc.Xcalloc(tls, 1, libc.Tsize_t(size))
		v := pointer[sqlite3.Tsqlite3_vfs](mine)
		*v = vfs.own
		name, err := libc.CString("simdisk")
		if err != nil {
			panic(err)
		}
		v.FzName, v.FpNext = name, 0
		v.FxOpen, v.FxDelete = address(openFile), address(removeFile)
		sqlite3.Xsqlite3_vfs_register(tls, mine, 1)
	})
}

func openFile(tls *libc.TLS, v, name, sf uintptr, flags int32, out uintptr) int32 {
	rc := function[openFunc](vfs.own.FxOpen)(tls, v, name, sf, flags, out)
	f := pointer[sqlite3.Tsqlite3_file](sf)
	if rc != sqlite3.SQLITE_OK || name == 0 || f.FpMethods == 0 {
		return rc
	}
	h := &handle{path: libc.GoString(name), own: f.FpMethods}
	info, err := os.Stat(h.path)
	if h.disk = diskOf(h.path); h.disk == nil || err != nil {
		return rc
	}
	h.ino = inode(info)
	h.disk.mu.Lock()
	if h.disk.files[h.ino] == nil {
		h.disk.files[h.ino] = new(file)
	}
	h.disk.mu.Unlock()
	vfs.open.Store(sf, h)
	f.FpMethods = before(tls, h.own)
	return rc
}

func before(tls *libc.TLS, own uintptr) uintptr {
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	if mine, made := vfs.methods[own]; made {
		return mine
	}
	o := pointer[sqlite3.Tsqlite3_io_methods](own)
	mine := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(*o)))
	m := pointer[sqlite3.Tsqlite3_io_methods](mine)
	*m = *o
	m.FxWrite, m.FxTruncate, m.FxSync, m.FxClose = address(writeTo), address(truncate), address(syncTo), address(closeFile)
	vfs.methods[own] = mine
	return mine
}

func removeFile(tls *libc.TLS, v, name uintptr, sync int32) int32 {
	if d := diskOf(libc.GoString(name)); d != nil {
		d.mu.Lock()
		err := d.use(false)
		d.mu.Unlock()
		if err != nil {
			return sqlite3.SQLITE_IOERR_DELETE
		}
	}
	return function[deleteFunc](vfs.own.FxDelete)(tls, v, name, sync)
}

func handleOf(file uintptr) (*handle, *sqlite3.Tsqlite3_io_methods) {
	h, _ := vfs.open.Load(file)
	return h.(*handle), pointer[sqlite3.Tsqlite3_io_methods](h.(*handle).own)
}

func code(err error, otherwise int32) int32 {
	if errors.Is(err, syscall.ENOSPC) {
		return sqlite3.SQLITE_FULL
	}
	return otherwise
}

func writeTo(tls *libc.TLS, file, data uintptr, n int32, to int64) int32 {
	h, own := handleOf(file)
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.use(true); err != nil {
		return code(err, sqlite3.SQLITE_IOERR_WRITE)
	}
	f := h.disk.files[h.ino]
	f.since = append(f.since, write{to, append([]byte{}, bytesAt(data, n)...)})
	return function[writeFunc](own.FxWrite)(tls, file, data, n, to)
}

func truncate(tls *libc.TLS, file uintptr, size int64) int32 {
	h, own := handleOf(file)
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.use(false); err != nil {
		return sqlite3.SQLITE_IOERR_TRUNCATE
	}
	f := h.disk.files[h.ino]
	f.since = append(f.since, write{at: size})
	return function[truncateFunc](own.FxTruncate)(tls, file, size)
}

// syncTo also syncs the name: SQLite syncs the directory of a log together with the log.
func syncTo(_ *libc.TLS, file uintptr, _ int32) int32 {
	h, _ := handleOf(file)
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if err := h.disk.use(false); err != nil {
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	f := h.disk.files[h.ino]
	for _, w := range f.since {
		f.synced = w.apply(f.synced)
	}
	f.since = nil
	h.disk.keepLog(h)
	return sqlite3.SQLITE_OK
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	_, own := handleOf(file)
	vfs.open.Delete(file)
	return function[closeFunc](own.FxClose)(tls, file)
}

// keepLog makes the name of a write-ahead log or journal durable.
func (d *Disk) keepLog(h *handle) {
	name := filepath.Base(h.path)
	if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-journal") {
		return
	}
	dir := filepath.Dir(h.path)
	if d.names[dir] == nil {
		d.names[dir] = map[string]uint64{}
	}
	d.names[dir][name] = h.ino
}
