package sweep

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"

	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/trace"
)

// A keyer computes keys, reading files once.
type keyer struct {
	program string // version
	files   run.Files
	known   map[string][]byte // hashes by path
}

// key hashes the version, the policy, every setting and whether it was set, and named files.
func (k *keyer) key(r *Run) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", k.program, r.Policy)
	for _, s := range config.Keys() {
		fmt.Fprintf(h, "%q %v %q\n", s.Name, r.Config.IsSet(s.Name), r.Config.Get(s.Name))
	}
	_, jobs := trace.Named(r.Config.Trace, r.Config.Format)
	for _, name := range []string{jobs, r.Config.Lender.Load} {
		if err := k.add(h, name, k.file); err != nil {
			return "", err
		}
	}
	if err := k.add(h, r.Config.Profiles, k.folder); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func (k *keyer) add(h hash.Hash, name string, read func(io.Writer, string) error) error {
	if name == "" {
		return nil
	}
	if _, ok := k.known[name]; !ok {
		own := sha256.New()
		if err := read(own, name); err != nil {
			return err
		}
		k.known[name] = own.Sum(nil)
	}
	_, err := h.Write(k.known[name])
	return err
}

func (k *keyer) file(w io.Writer, name string) error {
	f, err := k.files.Open(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return cmp.Or(err, f.Close())
}

func (k *keyer) folder(w io.Writer, name string) error {
	dir := k.files.Dir(name)
	return fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := fs.ReadFile(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%q %d\n", path, len(text))
		_, err = w.Write(text)
		return err
	})
}
