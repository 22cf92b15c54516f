// Package planstore reads and writes the Plan object: it takes epochs over and writes by compare-and-swap. It also
// decides whether a plan says anything new.
package planstore
