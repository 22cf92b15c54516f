// Oxgang schedules training jobs, simulates GPU clusters and explains decisions.
package main

import (
	"os"

	"github.com/oxgang/oxgang/cmd/oxgang/command"
)

func main() { os.Exit(command.Main()) }
