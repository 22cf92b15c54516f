package driver

import "os"

// Syncing calls a function before a part is synced.
func (r *Recorder) Syncing(f func(path string)) {
	r.sync = func(file *os.File) error {
		f(file.Name())
		return file.Sync()
	}
}
