package cli

import (
	"io"
	"os"
)

const minColumns = 100

// Columns returns the line length of the terminal w, at least 100. For other outputs it returns 0: no limit.
func Columns(w io.Writer) int {
	if !Terminal(w) {
		return 0
	}
	return max(minColumns, columnsOf(w.(*os.File)))
}
