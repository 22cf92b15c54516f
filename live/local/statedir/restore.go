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
	"strings"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

const maxContents = 1 << 16

// Restore creates the state directory dir, which must be new or empty, from a backup, completely or not at all. It
// returns the incomplete checkpoints in the backup, which it leaves out.
func Restore(ctx context.Context, file, dir string) (_ []Torn, err error) {
	defer named("restore", &err)
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := vacant(dir); err != nil {
		return nil, err
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	d, err := newDraft(filepath.Dir(dir), ".oxgang-restore-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.remove()) }()
	torn, err := fill(d.path, &source{ctx, f})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := os.Rename(d.path, dir); err != nil {
		return nil, err
	}
	return torn, syncDir(filepath.Dir(dir))
}

func vacant(dir string) error {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(all) > 0 {
		err = fmt.Errorf("%s contains %s: restore to an empty or new directory", dir, all[0].Name())
	}
	return err
}

func fill(dir string, f io.Reader) ([]Torn, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reader{root: root, tar: tar.NewReader(f), sum: sha256.New()}
	if err := r.all(); err != nil {
		return nil, err
	}
	torn, err := dropTorn(root)
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(dir, "copied.db")
	if err := os.Rename(filepath.Join(dir, database), copied); err != nil {
		return nil, err
	}
	l := Folders{Dir: dir}
	there := func(id job.ID, path string) bool {
		_, err := root.Stat(filepath.Join(jobs, string(id), filepath.Base(l.Checkpoints(id)), path))
		return err == nil
	}
	if err := store.Restore(dir, copied, there); err != nil {
		return nil, err
	}
	return torn, makeFolders(&l)
}

func makeFolders(f *Folders) error {
	s, err := store.Open(f.Dir)
	if err != nil {
		return err
	}
	f.Identity = s.Identity()
	all, err := s.Jobs(false)
	for _, j := range all {
		if err == nil {
			err = os.MkdirAll(f.Checkpoints(j.Spec.ID), 0o700)
		}
		if err == nil {
			err = f.give(j.Spec.ID, j.Request.User)
		}
		if err == nil {
			err = WriteRecord(f, j, nil)
		}
	}
	return errors.Join(err, s.Close())
}

type reader struct {
	root  *os.Root
	tar   *tar.Reader
	sum   hash.Hash
	files int
}

var errNone = errors.New("not a backup of Oxgang, or incomplete or damaged: use another")

func (r *reader) all() error {
	for {
		h, err := r.tar.Next()
		if err != nil { // even io.EOF: the last entry is missing
			return errors.Join(errNone, err)
		}
		if h.Name == contents {
			return r.check()
		}
		if err := r.file(h); err != nil {
			return err
		}
	}
}

func (r *reader) check() error {
	want := manifest{}
	if err := json.NewDecoder(io.LimitReader(r.tar, maxContents)).Decode(&want); err != nil {
		return errors.Join(errNone, err)
	}
	if want.Version != version {
		return fmt.Errorf("version %d, want %d: use the oxgang that wrote it", want.Version, version)
	}
	if got := hex.EncodeToString(r.sum.Sum(nil)); got != want.SHA256 || r.files != want.Files {
		return fmt.Errorf("%w (%d files of checksum %s, want %d of %s)", errNone, r.files, got, want.Files, want.SHA256)
	}
	return nil
}

func (r *reader) file(h *tar.Header) error {
	if h.Typeflag != tar.TypeReg || !expected(h.Name) {
		return fmt.Errorf("entry %.100q: %w", h.Name, errNone)
	}
	if err := r.root.MkdirAll(path.Dir(h.Name), 0o700); err != nil {
		return err
	}
	f, err := r.root.OpenFile(h.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.sum, "%d %s %d\n", len(h.Name), h.Name, h.Size)
	r.files++
	_, err = io.Copy(io.MultiWriter(f, r.sum), r.tar)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return r.root.Chtimes(h.Name, h.ModTime, h.ModTime) // retention counts from it
}

func expected(name string) bool {
	first, _, inside := strings.Cut(name, "/")
	return name == database || inside && filepath.IsLocal(name) && (first == journals || first == jobs)
}
