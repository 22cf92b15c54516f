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

// A build is the programs of one commit.
type build struct {
	dir    string // of its programs
	source string // of its files; empty: the working folder
}

// checkout writes the files of a commit.
func (b *build) checkout(commit string) error {
	b.source = filepath.Join(b.dir, "source")
	if err := os.MkdirAll(b.source, 0o755); err != nil {
		return err
	}
	archive := exec.Command("git", "archive", commit)
	tar := exec.Command("tar", "-x", "-C", b.source)
	var said bytes.Buffer
	archive.Stderr, tar.Stderr = &said, &said
	var err error
	if tar.Stdin, err = archive.StdoutPipe(); err != nil {
		return err
	}
	if err := archive.Start(); err != nil {
		return err
	}
	if err := errors.Join(tar.Run(), archive.Wait()); err != nil {
		return fmt.Errorf("files of commit %s: %w: %s (a shallow clone has no history: git fetch --unshallow)", commit, err, said.Bytes())
	}
	return nil
}

// compile builds the programs.
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

// rewrite puts a copy of a program in its place. Of one that the linker has just written other pages are in the
// file cache, and half as many megabytes more count as those of a process that runs it.
func (b *build) rewrite(program string) error {
	path := filepath.Join(b.dir, program)
	if err := os.Rename(path, path+".linked"); err != nil {
		return err
	}
	text, err := exec.Command("cp", path+".linked", path).CombinedOutput() // not here: what this program holds counts, too
	if err != nil {
		return fmt.Errorf("cp: %w: %s", err, text)
	}
	return nil
}

// run runs a job once, on one processor unless the environment says otherwise: with more, how much
// the collector does beside the rest varies with what else the machine does. The system counts the
// memory of this program in that of those it starts, so it keeps little itself.
func (b *build) run(j job) (usage, error) {
	cmd := exec.Command(filepath.Join(b.dir, j.program), j.args...)
	cmd.Dir = b.dir
	cmd.Env = append([]string{"GOMAXPROCS=1"}, os.Environ()...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return usage{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said.Bytes())
	}
	u := usage{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if !bytes.Contains(said.Bytes(), []byte(j.says)) {
		return usage{}, fmt.Errorf("%s did not do its job: no %q in what it printed:\n%s", strings.Join(cmd.Args, " "), j.says, said.Bytes())
	}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.memory = r.Maxrss << 10
	}
	return u, nil
}
