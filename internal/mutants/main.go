// Command mutants inserts bugs one at a time, runs tests, and prints which test caught each. It takes the bugs from
// mutants.txt. With -draw it draws others: a negated condition, a dropped statement, a number one off.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	//go:embed mutants.txt
	list string
	//go:embed equivalent.txt
	equivalents string
)

type mutant struct {
	name, file, old, new string
	test                 []string
}

func parse(text string) ([]mutant, error) {
	var all []mutant
	for i, line := range strings.Split(text, "\n") {
		key, value, found := strings.Cut(line, " ")
		if line == "" || key == "#" {
			continue
		}
		if key == "mutant" {
			all = append(all, mutant{name: value})
			continue
		}
		if !found || len(all) == 0 {
			return nil, fmt.Errorf("line %d: got %q, want mutant, file, old, new or test, and a value", i+1, line)
		}
		switch m := &all[len(all)-1]; key {
		case "file":
			m.file = value
		case "old":
			m.old = value
		case "new":
			m.new = value
		case "test":
			m.test = strings.Fields(value)
		default:
			return nil, fmt.Errorf("line %d: got %q, want mutant, file, old, new or test", i+1, key)
		}
	}
	return all, nil
}

func (m *mutant) apply(source string) (string, error) {
	if n := strings.Count(source, m.old); n != 1 || m.old == m.new || len(m.test) == 0 {
		return "", fmt.Errorf("%s: %s has %q %d times, want once, another text, and a test; correct the list", m.name, m.file, m.old, n)
	}
	return strings.Replace(source, m.old, m.new, 1), nil
}

func overlay(path, bad, dir string) (string, error) {
	twin, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{"Replace": {path: twin}})
	if err == nil {
		err = os.WriteFile(twin, []byte(bad), 0o600)
	}
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	return overlay, err
}

var (
	failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	broken = regexp.MustCompile(`(?m)\[build failed\]|\[setup failed\]`)
)

func verdict(output string) (string, error) {
	if broken.MatchString(output) {
		return "", fmt.Errorf("does not compile: %s", output)
	}
	if m := failed.FindStringSubmatch(output); m != nil {
		return m[1], nil
	}
	if strings.Contains(output, "\nFAIL") || strings.HasPrefix(output, "FAIL") {
		return "a test that did not end", nil
	}
	return "", nil
}

func (m *mutant) run(root string) (string, error) {
	source, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return "", err
	}
	bad, err := m.apply(string(source))
	if err != nil {
		return "", err
	}
	return m.runWith(root, bad)
}

// runWith runs the tests of a mutant with another source of its file.
func (m *mutant) runWith(root, bad string) (string, error) {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := overlay(filepath.Join(root, m.file), bad, dir)
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", append([]string{"test", "-vet=off", "-count=1", "-timeout=2m", "-failfast", "-ldflags=-s -w", "-overlay=" + overlay}, m.test...)...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "RAPID_SEED=1")
	output, failure := cmd.CombinedOutput()
	test, err := verdict(string(output))
	if err == nil && test == "" && failure != nil {
		err = fmt.Errorf("go test: %w: %s", failure, output)
	}
	return test, err
}

func try(all []mutant, names []string) (caught, tried int, err error) {
	root, err := os.Getwd()
	if err != nil {
		return 0, 0, err
	}
	for i := range all {
		m := &all[i]
		if len(names) > 0 && !slices.Contains(names, m.name) {
			continue
		}
		tried++
		test, err := m.run(root)
		if err != nil {
			fmt.Printf("NOT TRIED   %s: %v\n", m.name, err)
			continue
		}
		if test == "" {
			fmt.Printf("NOT CAUGHT  %s\n", m.name)
			continue
		}
		caught++
		fmt.Printf("caught      %s: %s\n", m.name, test)
	}
	return caught, tried, nil
}

const least = 95

func main() {
	n := flag.Int("draw", 0, "number of bugs to draw in place of the list")
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "seed of the drawn bugs")
	flag.Parse()
	var err error
	if *n > 0 {
		err = drawn(*n, *seed, flag.Args())
	} else {
		err = listed(flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func drawn(n int, seed uint64, dirs []string) error {
	for _, dir := range dirs {
		if !slices.Contains(mutated, dir) {
			return fmt.Errorf("package %q, want one of %q", dir, mutated)
		}
	}
	if len(dirs) == 0 {
		dirs = mutated
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	fmt.Printf("%d bugs drawn by seed %d; repeat with: go run ./internal/mutants -draw %[1]d -seed %[2]d %s\n", n, seed, strings.Join(dirs, " "))
	return draw(root, dirs, n, seed)
}

func listed(names []string) error {
	all, err := parse(list)
	if err != nil {
		return err
	}
	caught, tried, err := try(all, names)
	fmt.Printf("%d of %d mutants caught\n", caught, tried)
	if err == nil && caught*100 < least*tried {
		err = fmt.Errorf("want %d %% caught: add tests", least)
	}
	return err
}
