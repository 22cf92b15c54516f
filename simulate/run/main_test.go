package run

import (
	"io"
	"os"
)

func osFiles() Files {
	return Files{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Dir:  os.DirFS,
	}
}
