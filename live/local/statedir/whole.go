package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/model/job"
)

// The files with which the Python client proves that a checkpoint is whole; python/oxgang/_checkpoint/manifest.py.
const (
	listing = "manifest.json"
	seal    = "manifest.json.sha256"
)

const maxListing = 256 << 20

type entry struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

func readListing(f io.Reader) (map[string]entry, error) {
	var l struct {
		Files map[string]entry `json:"files"`
	}
	if err := json.NewDecoder(io.LimitReader(f, maxListing)).Decode(&l); err != nil {
		return nil, fmt.Errorf("%s: %w", listing, err)
	}
	return l.Files, nil
}

func compare(unit string, want, got map[string]entry) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		is, ok := got[path.Join(unit, name)]
		switch w := want[name]; {
		case !ok:
			return fmt.Errorf("%s is missing", name)
		case is.Bytes != w.Bytes:
			return fmt.Errorf("%s has %d bytes, want %d", name, is.Bytes, w.Bytes)
		case is.SHA256 != w.SHA256:
			return fmt.Errorf("%s has SHA-256 %.12s, want %.12s", name, is.SHA256, w.SHA256)
		}
	}
	listed := got[path.Join(unit, listing)]
	if got[path.Join(unit, seal)].SHA256 != digest(listed.SHA256+"  "+listing+"\n") {
		return fmt.Errorf("%s does not match %s", seal, listing)
	}
	return nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// verify returns an error if a checkpoint has a manifest that its files do not match. It returns nil for a checkpoint
// of another program.
func verify(root *os.Root, unit string) error {
	if info, err := root.Stat(unit); err != nil || !info.IsDir() {
		return err
	}
	f, err := root.Open(path.Join(unit, listing))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := root.Stat(path.Join(unit, seal)); err == nil {
			return fmt.Errorf("no %s", listing)
		}
		return nil
	}
	if err != nil {
		return err
	}
	want, err := readListing(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	got := map[string]entry{}
	err = fs.WalkDir(root.FS(), unit, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			got[name], err = measure(root, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	return compare(unit, want, got)
}

func measure(root *os.Root, name string) (entry, error) {
	f, err := root.Open(name)
	if err != nil {
		return entry{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return entry{n, hex.EncodeToString(sum.Sum(nil))}, errors.Join(err, f.Close())
}

// dropTorn deletes the checkpoints below a restored directory that are not whole, which older versions backed up.
func dropTorn(root *os.Root) ([]Torn, error) {
	units, err := fs.Glob(root.FS(), path.Join(jobs, "*", "checkpoints", "*"))
	var all []Torn
	for _, unit := range units {
		why := verify(root, unit)
		if why == nil {
			continue
		}
		all = append(all, Torn{jobOf(unit), path.Base(unit), why})
		if err := root.RemoveAll(unit); err != nil {
			return nil, err
		}
	}
	return all, err
}

func jobOf(unit string) job.ID { return job.ID(strings.Split(unit, "/")[1]) }
