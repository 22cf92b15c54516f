// Package layering checks the directions of imports. Every package of the module has a
// layer, here called its floor (floors_test.go), and may import only packages of lower floors.
// The lower floors do no I/O and share no state. The rules are those of design.md,
// section 3; the test of this package applies them to the module.
package layering
