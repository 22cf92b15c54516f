// Package cli has the common parts of oxgang's commands: errors and hints, settings, files, progress and output.
package cli
