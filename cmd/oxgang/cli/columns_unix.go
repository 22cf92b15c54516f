//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf returns the width of a terminal; 0 if unknown.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
