// Oxgang schedules training jobs on a machine, simulates GPU clusters, explains decisions, and reproduces published
// results.
package main

import (
	"os"

	"github.com/oxgang/oxgang/cmd/oxgang/command"
)

func main() { os.Exit(command.Main()) }
