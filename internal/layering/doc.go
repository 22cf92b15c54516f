// Package layering tests the whole module: imports follow the floors in the README, and only opt/exact needs cgo.
package layering
