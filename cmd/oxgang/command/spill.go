package command

import (
	"errors"
	"os"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// spill returns a temporary file without a name: it is gone when it is closed, or the program ends.
func spill() (parse.Spill, error) {
	f, err := os.CreateTemp("", "oxgang-trace-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
