package cli

import (
	"io"
	"os"
)

const minColumns = 100

// Columns returns the line length of a terminal, at least 100; 0 (no limit) for other outputs.
func Columns(w io.Writer) int {
	if !Terminal(w) {
		return 0
	}
	return max(minColumns, columnsOf(w.(*os.File)))
}
