package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

type build struct {
	dir    string // of its programs
	source string // empty: the working directory
}

func (b *build) checkout(commit string) error {
	b.source = filepath.Join(b.dir, "source")
	if err := os.MkdirAll(b.source, 0o755); err != nil {
		return err
	}
	archive := exec.Command("git", "archive", commit)
	tar := exec.Command("tar", "-x", "-C", b.source)
	var output bytes.Buffer
	archive.Stderr, tar.Stderr = &output, &output
	var err error
	if tar.Stdin, err = archive.StdoutPipe(); err != nil {
		return err
	}
	if err := archive.Start(); err != nil {
		return err
	}
	if err := errors.Join(tar.Run(), archive.Wait()); err != nil {
		return fmt.Errorf("files of commit %s: %w: %s (a shallow clone has no history: git fetch --unshallow)", commit, err, output.Bytes())
	}
	return nil
}

func (b *build) compile() error {
	for _, args := range [][]string{
		{"build", "-o", filepath.Join(b.dir, "oxgang"), "./cmd/oxgang"},
		{"test", "-c", "-o", filepath.Join(b.dir, "sia.test"), "./policy/sia"},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = b.source
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
		}
	}
	return errors.Join(b.rewrite("oxgang"), b.rewrite("sia.test"))
}

// rewrite replaces a program by a copy. For a file just written by the linker, the page cache differs, and the
// process seems to use more memory.
func (b *build) rewrite(program string) error {
	path := filepath.Join(b.dir, program)
	if err := os.Rename(path, path+".linked"); err != nil {
		return err
	}
	text, err := exec.Command("cp", path+".linked", path).CombinedOutput() // the memory of this process would count
	if err != nil {
		return fmt.Errorf("cp: %w: %s", err, text)
	}
	return nil
}

// run uses one processor, since with more the garbage collector's share varies. This program keeps little memory,
// because it counts for its children.
func (b *build) run(j job) (usage, error) {
	cmd := exec.Command(filepath.Join(b.dir, j.program), j.args...)
	cmd.Dir = b.dir
	cmd.Env = append([]string{"GOMAXPROCS=1"}, os.Environ()...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, output.Bytes())
	}
	u := usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if !bytes.Contains(output.Bytes(), []byte(j.says)) {
		return usage{}, fmt.Errorf("%s failed: its output lacks %q:\n%s", strings.Join(cmd.Args, " "), j.says, output.Bytes())
	}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss << 10
	}
	return u, nil
}
