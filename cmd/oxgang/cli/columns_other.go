//go:build !unix

package cli

import "os"

func columnsOf(*os.File) int { return 0 }
