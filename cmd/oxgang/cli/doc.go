// Package cli has what the commands of oxgang share: errors and hints, settings, files, progress and
// output.
package cli
