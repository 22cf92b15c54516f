// Package planstore reads and writes the Plan object by compare-and-swap, and takes new epochs. It also decides
// whether a plan differs enough to be written.
package planstore
