package local

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sector is the number of bytes that a disk writes atomically.
const sector = 512

// Losses count the effects of power failures.
type Losses struct {
	Names  int // their creation, renaming or removal was lost
	Writes int // lost completely
	Torn   int // lost partly
}

// Losses returns the losses so far.
func (d *Disk) Losses() Losses {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.losses
}

// LosePower simulates a power failure: it undoes part of the changes that were not synced. choose(n), from 0 to n-1,
// decides what survives of unsynced changes. All files must be closed.
func (d *Disk) LosePower(choose func(n int) int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var dirs []string
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := d.losePower(dir, choose); err != nil {
			return err
		}
	}
	return nil
}

func (d *Disk) losePower(dir string, choose func(int) int) error {
	now, err := names(dir)
	if err != nil {
		return err
	}
	synced, found := d.names[dir], map[string]uint64{}
	all := maps.Clone(now)
	maps.Copy(all, synced)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		written, is := now[name]
		kept, was := synced[name]
		switch {
		case is == was && written == kept:
		case choose(2) == 0:
			kept, was = written, is
		default:
			d.losses.Names++
		}
		if was {
			found[name] = kept
		}
	}
	return d.restore(dir, now, found, choose)
}

func (d *Disk) restore(dir string, now, found map[string]uint64, choose func(int) int) error {
	texts := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		text, err := d.left(filepath.Join(dir, name), found[name], now[name] == found[name], choose)
		if err != nil {
			return err
		}
		texts[name] = text
	}
	for name := range now {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for name, text := range texts {
		if strings.HasSuffix(name, "-shm") {
			continue // shared memory
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return d.settle(dir)
}

func (d *Disk) settle(dir string) error {
	now, err := names(dir)
	if err != nil {
		return err
	}
	d.names[dir] = now
	for name, ino := range now {
		if err := d.syncData(filepath.Join(dir, name), ino); err != nil {
			return err
		}
	}
	return nil
}

func (d *Disk) left(path string, ino uint64, here bool, choose func(int) int) ([]byte, error) {
	f := d.files[ino]
	if f == nil { // never synced: a prefix survives
		if !here {
			return nil, nil
		}
		text, err := os.ReadFile(path)
		return text[:choose(len(text)+1)], err
	}
	text := slices.Clone(f.synced)
	for _, w := range f.since {
		text = d.tear(&w, text, choose)
	}
	return text, nil
}

func (d *Disk) tear(w *write, text []byte, choose func(int) int) []byte {
	how := choose(3)
	switch {
	case how == 0:
		d.losses.Writes++
		return text
	case w.data == nil:
		return w.apply(text)
	}
	kept, sectors := 0, 0
	for from := 0; from < len(w.data); from += sector {
		sectors++
		if how == 1 || choose(2) == 0 {
			kept++
			part := write{w.at + int64(from), w.data[from:min(from+sector, len(w.data))]}
			text = part.apply(text)
		}
	}
	if kept > 0 && kept < sectors {
		d.losses.Torn++
	}
	return text
}

func (w *write) apply(text []byte) []byte {
	end := w.at + int64(len(w.data))
	if int64(len(text)) < end {
		text = append(text, make([]byte, end-int64(len(text)))...)
	}
	if w.data == nil {
		return text[:w.at]
	}
	copy(text[w.at:], w.data)
	return text
}
