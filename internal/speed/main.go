// Command speed compares six jobs of the working tree with those of an earlier commit, the pin,
// built in the same run: processor time and peak memory. It fails where one takes more than 1.10
// times what it took there. "make speed" runs it; docs/experiments/speed.md has the history.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// pin is the commit to compare with. Whoever makes a job faster moves it.
//
//go:embed pin
var pin string

func main() {
	against := flag.String("against", strings.TrimSpace(pin), "commit to compare with")
	only := flag.String("jobs", "", "run the jobs whose names match this pattern; empty: all")
	runs := flag.Int("runs", 5, "runs of each job by each build; the least counts. A job that is over the limit gets as many more, twice")
	limit := flag.Float64("limit", 1.10, "the most that a job may take, as a multiple of what it took")
	flag.Parse()
	ok, err := run(*against, *only, *runs, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: speed:", err)
		os.Exit(2)
	}
	if !ok {
		fmt.Fprintf(os.Stderr, "speed: above %.2f times commit %.8s\n", *limit, *against)
		os.Exit(1)
	}
}

// run builds both, measures all jobs and prints a table. It reports whether all are within the limit.
func run(against, only string, runs int, limit float64) (ok bool, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "oxgang-speed-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left of it is in the system's temporary folder
	before, after := build{dir: filepath.Join(dir, "before")}, build{dir: filepath.Join(dir, "after")}
	if err := before.checkout(against); err != nil {
		return false, err
	}
	for _, b := range []*build{&before, &after} {
		if err := b.compile(); err != nil {
			return false, err
		}
	}
	jobs, err := jobs(dir)
	if err != nil {
		return false, err
	}
	fmt.Printf("%-24s %9s %9s %7s %9s %9s %7s\n", "JOB", "BEFORE s", "AFTER s", "RATIO", "BEFORE MB", "AFTER MB", "RATIO")
	ok = true
	for _, j := range jobs {
		if !chosen.MatchString(j.name) {
			continue
		}
		c, err := compare(func(b *build) (usage, error) { return b.run(j) }, &before, &after, runs*j.times, limit)
		if err != nil {
			return false, fmt.Errorf("%s: %w", j.name, err)
		}
		fmt.Println(c.line(j.name, limit))
		ok = ok && c.within(limit)
	}
	return ok, nil
}
