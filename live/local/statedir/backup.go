package statedir

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

const (
	database = "oxgang.db"
	contents = "backup.json" // the last entry
	journals = "journal"
	jobs     = "jobs"
)

const version = 1

type manifest struct {
	Version int    `json:"version"`
	Files   int    `json:"files"`
	SHA256  string `json:"sha256"` // of all names, sizes and contents, in order
}

// A Torn is an incomplete checkpoint, which is therefore neither backed up nor restored.
type Torn struct {
	Job  job.ID
	Name string // name of the checkpoint in the job's folder of checkpoints
	Err  error
}

// String describes the checkpoint in a line.
func (t *Torn) String() string { return fmt.Sprintf("job %s: checkpoint %s: %v", t.Job, t.Name, t.Err) }

// Backup writes a state directory into a file, atomically. If checkpoints is true, it includes the complete checkpoints
// of unfinished jobs, and returns the incomplete ones. If a job has only incomplete ones, it writes the file and also
// returns an error. The directory is not locked: the database is a snapshot, and journals end where they end when read.
func Backup(ctx context.Context, file, dir string, checkpoints bool) (_ []Torn, err error) {
	defer named("backup", &err)
	d, err := newDraft(filepath.Dir(file), ".oxgang-backup-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.remove()) }()
	whole := filepath.Join(d.path, "whole")
	f, err := os.OpenFile(whole, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx, dir: dir, out: f, tar: tar.NewWriter(f), sum: sha256.New()}
	err = w.all(filepath.Join(d.path, database), checkpoints)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(whole, file); err != nil {
		return nil, err
	}
	return w.torn, errors.Join(syncDir(filepath.Dir(file)), w.bare())
}

func (w *writer) bare() error {
	var errs []error
	for _, id := range w.without {
		errs = append(errs, fmt.Errorf("the file has no checkpoint of job %s: none is whole; make another backup later", id))
	}
	return errors.Join(errs...)
}

func named(what string, err *error) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", what, *err)
	}
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

type writer struct {
	ctx     context.Context //nolint:containedctx // of one call of Backup
	dir     string
	out     *os.File
	tar     *tar.Writer
	sum     hash.Hash
	files   int
	torn    []Torn
	without []job.ID // jobs whose checkpoints are all torn
}

func (w *writer) all(copied string, checkpoints bool) error {
	if err := store.Backup(w.dir, copied); err != nil {
		return err
	}
	f, err := os.Open(copied)
	if err := w.file(database, f, err); err != nil {
		return err
	}
	if err := w.tree(filepath.Join(w.dir, journals)); err != nil {
		return err
	}
	if checkpoints {
		if err := w.checkpoints(filepath.Dir(copied)); err != nil {
			return err
		}
	}
	return w.close()
}

func (w *writer) checkpoints(copied string) error {
	s, err := store.Open(copied)
	if err != nil {
		return err
	}
	all, err := s.Jobs(false)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	f := Folders{Dir: w.dir}
	for _, j := range all {
		if err := w.saved(&f, j.Spec.ID); err != nil {
			return err
		}
	}
	return nil
}

// tree writes the files below a directory. Files that vanish are skipped. os.Root prevents links of another user
// from leading out.
func (w *writer) tree(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	below, err := filepath.Rel(w.dir, dir)
	if err != nil {
		return err
	}
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
		return w.file(path.Join(filepath.ToSlash(below), name), f, err)
	})
}

func (w *writer) file(name string, f *os.File, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	_, err = w.copy(name, f, info)
	return err
}

// copy writes an entry of an open file, and returns its SHA-256. An error of reading wraps
// errRead.
func (w *writer) copy(name string, f io.Reader, info fs.FileInfo) (string, error) {
	if err := w.header(name, info.Size(), info.ModTime()); err != nil {
		return "", err
	}
	w.files++
	own := sha256.New()
	_, err := io.CopyN(io.MultiWriter(w.tar, w.sum, own), &source{w.ctx, f}, info.Size())
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %s became shorter", errRead, name)
	}
	return hex.EncodeToString(own.Sum(nil)), err
}

var errRead = errors.New("read")

// A source ends with its context, and marks errors of reading.
type source struct {
	ctx context.Context //nolint:containedctx // of one call of Backup
	f   io.Reader
}

func (s *source) Read(to []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.f.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", errRead, err)
	}
	return n, err
}

func (w *writer) header(name string, size int64, at time.Time) error {
	fmt.Fprintf(w.sum, "%d %s %d\n", len(name), name, size)
	return w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at})
}

func (w *writer) close() error {
	text, err := json.Marshal(manifest{version, w.files, hex.EncodeToString(w.sum.Sum(nil))})
	if err != nil {
		return err
	}
	if err := w.header(contents, int64(len(text)), time.Time{}); err != nil {
		return err
	}
	if _, err := w.tar.Write(text); err != nil {
		return err
	}
	return w.tar.Close()
}
