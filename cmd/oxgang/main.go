// Oxgang schedules training jobs on GPU clusters; this program does so on one
// machine, simulates it, explains what it did, and reproduces what was published
// of others.
package main

import (
	"os"

	"github.com/oxgang/oxgang/cmd/oxgang/command"
)

func main() { os.Exit(command.Main()) }
