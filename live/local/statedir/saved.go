package statedir

import (
	"archive/tar"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/model/job"
)

// unpublished begins the names of checkpoints that the client is writing or deleting.
const unpublished = ".tmp-"

// saved writes the checkpoints of a job, the newest first, because a running job deletes the oldest.
func (w *writer) saved(f *Folders, id job.ID) error {
	root, err := os.OpenRoot(f.Checkpoints(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	names, err := newestFirst(root)
	if err != nil {
		return err
	}
	whole := 0
	for _, name := range names {
		torn, err := w.unit(root, path.Join(jobs, string(id), path.Base(f.Checkpoints(id))), name)
		if err != nil {
			return err
		}
		if torn == nil {
			whole++
			continue
		}
		w.torn = append(w.torn, Torn{id, name, torn})
	}
	if whole == 0 && len(names) > 0 {
		w.without = append(w.without, id)
	}
	return nil
}

func newestFirst(root *os.Root) ([]string, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	var infos []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && (info.IsDir() || info.Mode().IsRegular()) && !strings.HasPrefix(e.Name(), unpublished) {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(b.Name(), a.Name()))
	})
	names := make([]string, len(infos))
	for i, info := range infos {
		names[i] = info.Name()
	}
	return names, err
}

// unit writes one checkpoint. If the checkpoint is incomplete, it writes nothing and returns why.
func (w *writer) unit(root *os.Root, below, name string) (torn, err error) {
	p, err := openParts(root, name)
	defer p.close()
	if err != nil {
		return err, nil
	}
	state, err := w.mark()
	if err != nil {
		return nil, err
	}
	sums := map[string]entry{}
	for _, part := range p {
		sum, err := w.copy(path.Join(below, part.name), part.file, part.info)
		if errors.Is(err, errRead) {
			return err, w.back(state)
		}
		if err != nil {
			return nil, err
		}
		sums[part.name] = entry{part.info.Size(), sum}
	}
	if err := p.whole(root, name, sums); err != nil {
		return err, w.back(state)
	}
	return nil, nil
}

type mark struct {
	at    int64
	sum   []byte
	files int
}

func (w *writer) mark() (mark, error) {
	if err := w.tar.Flush(); err != nil {
		return mark{}, err
	}
	at, err := w.out.Seek(0, io.SeekCurrent)
	sum, err2 := w.sum.(encoding.BinaryMarshaler).MarshalBinary()
	return mark{at, sum, w.files}, errors.Join(err, err2)
}

func (w *writer) back(m mark) error {
	_, err := w.out.Seek(m.at, io.SeekStart)
	w.tar, w.files = tar.NewWriter(w.out), m.files
	return errors.Join(err, w.out.Truncate(m.at), w.sum.(encoding.BinaryUnmarshaler).UnmarshalBinary(m.sum))
}

type part struct {
	name string // in the folder of checkpoints
	file *os.File
	info fs.FileInfo
}

// Parts are the open files of one checkpoint. A file that is deleted after openParts can still be read.
type parts []part

func openParts(root *os.Root, unit string) (parts, error) {
	var all parts
	err := fs.WalkDir(root.FS(), unit, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
		if err != nil {
			return err
		}
		info, err := f.Stat()
		all = append(all, part{name, f, info})
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is no longer a file", name)
		}
		return err
	})
	return all, err
}

func (p parts) close() {
	for _, part := range p {
		_ = part.file.Close()
	}
}

// whole returns an error unless the files that were read are the checkpoint. With a manifest, their sizes and
// hashes prove it. Without one, nothing may have changed between opening the first file and now, and no file may have
// been removed just before.
func (p parts) whole(root *os.Root, unit string, sums map[string]entry) error {
	for _, part := range p {
		if part.name == path.Join(unit, seal) || part.name == path.Join(unit, listing) {
			return p.listed(unit, sums)
		}
	}
	again, err := openParts(root, unit)
	defer again.close()
	if err != nil {
		return err
	}
	if !slices.EqualFunc(p, again, func(a, b part) bool {
		return a.name == b.name && os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
	}) {
		return errors.New("its files changed while they were read")
	}
	return again.removed(root, unit)
}

// removing is the longest time that a program may stop between deleting two files of a checkpoint.
const removing = time.Minute

// removed returns an error if a directory of the checkpoint changed within removing, but after the last write to any of
// its files. Writing a file changes its directory first; deleting one changes only the directory.
func (p parts) removed(root *os.Root, unit string) error {
	var written time.Time
	for _, part := range p {
		if at := part.info.ModTime(); at.After(written) {
			written = at
		}
	}
	return fs.WalkDir(root.FS(), unit, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().After(written) && time.Since(info.ModTime()) < removing {
			err = errors.New("files were removed from it in the last minute")
		}
		return err
	})
}

func (p parts) listed(unit string, sums map[string]entry) error {
	for _, part := range p {
		if part.name != path.Join(unit, listing) {
			continue
		}
		if _, err := part.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		want, err := readListing(part.file)
		if err != nil {
			return err
		}
		return compare(unit, want, sums)
	}
	return fmt.Errorf("no %s", listing)
}
