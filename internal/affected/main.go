// Command affected reads names of files that changed, one a line, relative to the root of the
// checkout. It prints the packages whose test results may change, the nearest first: those of the
// files, then those that import them, then those that import these. "make quick" tests them.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	most := flag.Int("within", -1, "print what is at most so many imports away from what changed; -1: all")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *most); err != nil {
		fmt.Fprintln(os.Stderr, "error: affected:", err)
		os.Exit(1)
	}
}

// run answers for the module of the working directory.
func run(in io.Reader, out io.Writer, within int) error {
	var changed []string
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if name := strings.TrimSpace(lines.Text()); name != "" {
			changed = append(changed, name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	pkgs, err := list()
	if err != nil {
		return err
	}
	for _, r := range nearest(pkgs, changed) {
		if within < 0 || r.distance <= within {
			fmt.Fprintln(out, r.name)
		}
	}
	return nil
}

// list has the go command list the packages of the module.
func list() ([]pkg, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...", "./internal/testdata")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p pkg
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return pkgs, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		p.Dir = strings.TrimPrefix(strings.TrimPrefix(p.Dir, dir), "/")
		pkgs = append(pkgs, p)
	}
}
