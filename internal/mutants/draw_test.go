package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const drawnFrom = `package x

import "fmt"

const limit = 7

type t [3]int

func f(a, b int) {
	a += 2
	if a < b && b > 0 {
		fmt.Println(a - b)
	}
	c := 1
	_ = c
}

func g() (int, error) {
	if err := h(); err != nil {
		return 8, err
	}
	return 9, nil
}
`

// Each kind of bug is found where it is, and changes only that.
func TestSites(t *testing.T) {
	all, err := sitesOf("x.go", []byte(drawnFrom))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.String())
		bad := drawnFrom[:s.from] + s.text + drawnFrom[s.to:]
		if bad == drawnFrom || !strings.HasPrefix(bad, "package x") {
			t.Errorf("%s: changes nothing, or the wrong place", &s)
		}
	}
	slices.Sort(got)
	want := []string{
		"x.go:10: 2 becomes 3", "x.go:10: dropped: a += 2", "x.go:11: && becomes ||", "x.go:11: 0 becomes 1", "x.go:11: < becomes <=",
		"x.go:11: > becomes >=", "x.go:11: condition negated", "x.go:11: f returns after its first statement", "x.go:12: - becomes +",
		"x.go:12: dropped: fmt.Println(a - b)", "x.go:14: 1 becomes 2", "x.go:15: dropped: _ = c", "x.go:19: != becomes ==",
		"x.go:19: condition negated", "x.go:22: 9 becomes 10", "x.go:5: 7 becomes 8",
	}
	if !slices.Equal(got, want) {
		t.Errorf("sites\n%q\nwant\n%q", got, want)
	}
}

// Every package in which bugs are drawn exists, has many places for them, and has tests.
func TestSites_of_packages(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range mutated {
		if all, err := sites(root, dir); err != nil || len(all) < 20 {
			t.Errorf("%s: %d places, %v; want many", dir, len(all), err)
		}
		if tests, err := filepath.Glob(filepath.Join(root, dir, "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("%s: no tests, %v", dir, err)
		}
	}
}
