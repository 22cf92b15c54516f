package experiments

import (
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Parts is the path of a folder with results of finished simulations, so that an interrupted command can continue. A
// result is reused only by the same program for the same configuration.
type Parts string

func (p Parts) load(key string, m *measured) bool {
	f, err := os.Open(p.path(key))
	if err != nil {
		return false
	}
	defer f.Close()
	return gob.NewDecoder(f).Decode(m) == nil
}

// store writes a result under a temporary name first, so that an interrupted program leaves no incomplete file.
func (p Parts) store(key string, m *measured) error {
	if err := os.MkdirAll(string(p), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(p), "part")
	if err != nil {
		return err
	}
	if err := errors.Join(gob.NewEncoder(f).Encode(m), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), p.path(key))
}

// Spent returns the processor time that SetSpent stored for an experiment; 0 if there is none.
func (p Parts) Spent(experiment string) time.Duration {
	text, err := os.ReadFile(p.spent(experiment))
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return 0
	}
	return d
}

// SetSpent stores the processor time of an experiment so far. Without a folder it does nothing.
func (p Parts) SetSpent(experiment string, d time.Duration) error {
	if p == "" {
		return nil
	}
	return errors.Join(os.MkdirAll(string(p), 0o755), os.WriteFile(p.spent(experiment), []byte(d.String()), 0o644))
}

func (p Parts) spent(experiment string) string {
	return filepath.Join(string(p), strings.ReplaceAll(experiment, "/", "-")+".spent")
}

func (p Parts) path(key string) string { return filepath.Join(string(p), key+".gob") }

// Remove deletes the stored results.
func (p Parts) Remove() error { return os.RemoveAll(string(p)) }

// key identifies what a simulation computes: this program, the plan, the folder of the data, and which of the plan's
// traces and seeds.
func (e *Experiment) key(p *Plan, data string, number int) (string, error) {
	program, err := programDigest()
	if err != nil {
		return "", err
	}
	plan, err := yaml.Marshal([]any{&e.Config, p, data, number})
	return digest(program, plan), err
}

var programDigest = sync.OnceValues(func() ([]byte, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
})

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d ", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
