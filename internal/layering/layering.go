// Package layering says which way imports go. Every package of the module
// stands on a floor (floors.go) and imports strictly lower ones; the lower
// floors do no I/O and share no state. The rules are those of design.md,
// section 3; its test applies them to the module.
package layering

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// module is the import path of the module whose packages stand on floors.
const module = "github.com/oxgang/oxgang"

// A pkg is one package of the module and what its code, tests apart, imports.
type pkg struct {
	ImportPath string
	Imports    []string
}

// check returns one error for each import that breaks a rule and for each
// package that stands on no floor, in the order of pkgs.
func check(pkgs []pkg) error {
	var errs []error
	for _, p := range pkgs {
		name := local(p.ImportPath)
		floor, ok := floorOf(name)
		if !ok {
			errs = append(errs, fmt.Errorf("%s: stands on no floor, want a line in internal/layering/floors.go", name))
			continue
		}
		for _, path := range p.Imports {
			if err := checkImport(name, floor, path); err != nil && !excepted(name, local(path)) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// checkImport says which rule the import of path by the package name on a
// floor breaks, exceptions apart.
func checkImport(name string, floor int, path string) error {
	target := local(path)
	switch {
	case target == path:
		return checkOutside(name, floor, path)
	case floor == testOnly:
		return nil // tests stand where they like
	}
	below, ok := floorOf(target)
	switch {
	case !ok:
		return nil // reported for itself
	case below == testOnly:
		return fmt.Errorf("%s: imports %s, which only tests may", name, target)
	case floor == beside && below != beside:
		return fmt.Errorf("%s: imports %s, want only opt and the standard library", name, target)
	case floor != beside && below == beside && (floor < 2 || floor > topPure):
		return fmt.Errorf("%s: floor %d imports %s, want only floors 2 to %d to import opt", name, floor, target, topPure)
	case floor <= topTower && below <= topTower && below >= floor:
		return fmt.Errorf("%s: floor %d imports %s of floor %d, want a lower floor", name, floor, target, below)
	}
	return nil
}

// checkOutside says which rule the import of a package outside the module
// breaks.
func checkOutside(name string, floor int, path string) error {
	pure := floor <= topPure || floor == beside
	if pure && slices.ContainsFunc(impure, func(p string) bool { return match(p, path) }) {
		return fmt.Errorf("%s: imports %s, which floors up to %d and opt may not", name, path, topPure)
	}
	if domain, _, _ := strings.Cut(path, "/"); floor == beside && strings.Contains(domain, ".") {
		return fmt.Errorf("%s: imports %s, want only opt and the standard library", name, path)
	}
	return nil
}

// floorOf looks a package up in rooms.
func floorOf(name string) (floor int, ok bool) {
	best := ""
	for _, r := range rooms {
		switch {
		case r.name == name:
			return r.floor, true
		case match(r.name, name) && len(r.name) > len(best):
			best, floor = r.name, r.floor
		}
	}
	return floor, best != ""
}

// excepted reports whether a line of exceptions allows the import.
func excepted(from, to string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool { return match(e.from, from) && match(e.to, to) })
}

// match reports whether a pattern names a package: itself, or, if it ends in
// "/...", the folder or anything below it.
func match(pattern, name string) bool {
	folder, all := strings.CutSuffix(pattern, "/...")
	return name == folder || all && strings.HasPrefix(name, folder+"/")
}

// local returns an import path below the module, or unchanged if outside it.
func local(path string) string { return strings.TrimPrefix(path, module+"/") }
