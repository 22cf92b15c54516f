// Package cli has the common parts of oxgang's commands.
package cli
