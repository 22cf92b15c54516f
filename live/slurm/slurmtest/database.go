//go:build linux

package slurmtest

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

const sql = `create database slurm_acct_db;
create user 'slurm'@'127.0.0.1' identified by 'slurm'; grant all on slurm_acct_db.* to 'slurm'@'127.0.0.1';
create user 'slurm'@'localhost' identified by 'slurm'; grant all on slurm_acct_db.* to 'slurm'@'localhost';`

func (r *Rig) startDatabase(ctx context.Context) error {
	if !r.options.Accounting {
		return nil
	}
	if err := r.startMariaDB(ctx); err != nil {
		return err
	}
	if err := r.StartDatabaseDaemon(ctx); err != nil {
		return err
	}
	for _, line := range []string{"add cluster rig", "add account ml cluster=rig"} {
		if _, err := r.call(ctx, "sacctmgr", append([]string{"-i"}, strings.Fields(line)...)...); err != nil {
			return err
		}
	}
	for _, u := range r.options.Users {
		if _, err := r.call(ctx, "sacctmgr", "-i", "add", "user", u, "account=ml", "cluster=rig", "defaultaccount=ml"); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rig) startMariaDB(ctx context.Context) error {
	folder, socket := r.path("db"), r.path("run", "mariadb.sock")
	if out, err := exec.CommandContext(ctx, "mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+folder,
		"--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	if err := r.start("mariadb", "mariadbd", "--no-defaults", "--user=root", "--datadir="+folder, "--socket="+socket,
		fmt.Sprintf("--port=%d", r.ports["mariadb"]), "--bind-address=127.0.0.1", "--innodb-buffer-pool-size=32M",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-lock-wait-timeout=900"); err != nil {
		return err
	}
	return Await(ctx, "MariaDB", func() (bool, error) {
		out, err := exec.CommandContext(ctx, "mariadb", "--no-defaults", "-uroot", "-S", socket, "-e", sql).CombinedOutput()
		if err != nil {
			return false, fmt.Errorf("mariadb: %w: %s", err, out)
		}
		return true, nil
	})
}

// StartDatabaseDaemon starts slurmdbd and waits until it answers.
func (r *Rig) StartDatabaseDaemon(ctx context.Context) error {
	if err := r.start("slurmdbd", "slurmdbd", "-D"); err != nil {
		return err
	}
	return Await(ctx, "slurmdbd", func() (bool, error) {
		_, err := r.call(ctx, "sacctmgr", "-n", "show", "cluster")
		return err == nil, err
	})
}
