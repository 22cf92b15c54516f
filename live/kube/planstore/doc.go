// Package planstore reads and writes the Plan object by compare-and-swap, and takes new epochs.
package planstore
