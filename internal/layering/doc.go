// Package layering holds tests of the whole module: imports point down the seven floors of the README, and only opt/exact needs cgo.
package layering
