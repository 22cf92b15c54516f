// Command speed ("make speed") compares processor time and peak memory of some jobs with those at an earlier
// commit, the pin. It fails above 1.10 times the earlier value. docs/experiments/speed.md has the history.
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

// pin is the commit to compare with. If you make a job faster, update it.
//
//go:embed pin
var pin string

func main() {
	against := flag.String("against", strings.TrimSpace(pin), "commit to compare with")
	only := flag.String("jobs", "", "run the jobs whose names match this pattern; empty: all")
	runs := flag.Int("runs", 5, "runs of each job with each build; the minimum counts. A job above the limit is repeated up to twice")
	limit := flag.Float64("limit", 1.10, "maximum usage of a job, as a multiple of the earlier one")
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

func run(against, only string, runs int, limit float64) (ok bool, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "oxgang-speed-")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	before, after := build{dir: filepath.Join(dir, "before")}, build{dir: filepath.Join(dir, "after")}
	if err := before.checkout(against); err != nil {
		return false, err
	}
	builds := []*build{&before, &after}
	for _, b := range builds {
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
		if err := j.prepare(builds); err != nil {
			return false, err
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
