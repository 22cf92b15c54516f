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
			errs = append(errs, fmt.Errorf("%s: stands on no floor, want a line in internal/layering/floors_test.go", name))
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
	case below == wing && floor != wing && !slices.ContainsFunc(guests, func(g string) bool { return match(g, name) }):
		return fmt.Errorf("%s: imports %s of the reference wing, want only %s to", name, target, strings.Join(guests, " and "))
	case floor == wing && match("cmd/...", target):
		return fmt.Errorf("%s: imports %s, want no program", name, target)
	case below == wing || floor == wing && below != testOnly:
		return nil
	case below == testOnly:
		return fmt.Errorf("%s: imports %s, which only tests may", name, target)
	case floor == beside && below != beside:
		return fmt.Errorf("%s: imports %s, want only opt and the standard library", name, target)
	case floor != beside && below == beside && !mayAskOpt(floor):
		return fmt.Errorf("%s: floor %d imports %s, want only floors 2 to %d, and programs, to import opt", name, floor, target, topPure)
	case floor <= topTower && below <= topTower && below >= floor:
		return fmt.Errorf("%s: floor %d imports %s of floor %d, want a lower floor", name, floor, target, below)
	}
	return nil
}

// mayAskOpt reports whether packages of a floor may import opt: those that model and decide, and
// programs, which show solvers to people. What stands between them asks a policy instead.
func mayAskOpt(floor int) bool {
	return floor >= 2 && floor <= topPure || floor >= programs && floor <= topTower
}

// checkOutside says which rule the import of a package outside the module
// breaks.
func checkOutside(name string, floor int, path string) error {
	pure := floor <= topPure || floor == beside
	c, is := confinementOf(path)
	domain, _, _ := strings.Cut(path, "/")
	switch {
	case !pure, is && c.leaves(name):
		return nil
	case floor == beside && strings.Contains(domain, "."):
		return fmt.Errorf("%s: imports %s, want only opt and the standard library", name, path)
	case is && len(c.only) > 0:
		return fmt.Errorf("%s: imports %s, which floors up to %d and opt leave to %s", name, path, topPure, strings.Join(c.only, " and "))
	case is:
		return fmt.Errorf("%s: imports %s, which floors up to %d and opt may not", name, path, topPure)
	}
	return nil
}

// confinementOf returns the line of confined that names a package outside the module.
func confinementOf(path string) (c confinement, ok bool) {
	i := slices.IndexFunc(confined, func(c confinement) bool { return match(c.packages, path) })
	if i < 0 {
		return c, false
	}
	return confined[i], true
}

// leaves reports whether the packages of c are left to the room of a package.
func (c confinement) leaves(name string) bool {
	return slices.ContainsFunc(c.only, func(pattern string) bool { return match(pattern, name) })
}

// floorOf looks a package up in rooms.
func floorOf(name string) (floor int, ok bool) {
	r, ok := roomOf(name)
	return r.floor, ok
}

// roomOf returns the line of rooms that says where a package stands.
func roomOf(name string) (best room, ok bool) {
	for _, r := range rooms {
		switch {
		case r.name == name:
			return r, true
		case match(r.name, name) && len(r.name) > len(best.name):
			best = r
		}
	}
	return best, best.name != ""
}

// checkRooms returns one error for each line of rooms in which no package stands, for each of
// exceptions that allows no import there is, and for each room of confined that does not import
// what is left to it.
func checkRooms(pkgs []pkg) error {
	used := make(map[room]bool)
	for _, p := range pkgs {
		if r, ok := roomOf(local(p.ImportPath)); ok {
			used[r] = true
		}
	}
	var errs []error
	for _, r := range rooms {
		if !used[r] {
			errs = append(errs, fmt.Errorf("room %s: no package stands there, want none that is gone", r.name))
		}
	}
	for _, e := range exceptions {
		if !slices.ContainsFunc(pkgs, e.allows) {
			errs = append(errs, fmt.Errorf("exception %s -> %s: nothing needs it, want none that is gone", e.from, e.to))
		}
	}
	for _, c := range confined {
		for _, room := range c.only {
			if !slices.ContainsFunc(pkgs, func(p pkg) bool { return imports(p, room, c.packages) }) {
				errs = append(errs, fmt.Errorf("confined %s: %s imports none, want no room that needs none", c.packages, room))
			}
		}
	}
	return errors.Join(errs...)
}

// imports reports whether a package that room names imports something that what names.
func imports(p pkg, room, what string) bool {
	return match(room, local(p.ImportPath)) && slices.ContainsFunc(p.Imports, func(path string) bool { return match(what, path) })
}

// allows reports whether a package imports something by the leave of an exception alone.
func (e exception) allows(p pkg) bool {
	name := local(p.ImportPath)
	floor, ok := floorOf(name)
	return ok && match(e.from, name) && slices.ContainsFunc(p.Imports, func(path string) bool {
		return match(e.to, local(path)) && checkImport(name, floor, path) != nil
	})
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
