// Package cli holds what the commands of oxgang share: errors and hints, settings, files, progress, output.
package cli
