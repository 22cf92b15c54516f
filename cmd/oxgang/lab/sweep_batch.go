package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/lab/sweep"
	"github.com/oxgang/oxgang/simulate/trace"
)

type batch struct {
	shards, cpus         int
	memory, image, claim string
}

var batchTemplates = map[string]string{"kubernetes": kubernetesSweep, "slurm": slurmSweep}

func batchKinds() []string { return []string{"kubernetes", "slurm"} }

func (b *batch) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&b.shards, "shards", 8, "with --as: number of parts, each a pod or an array task")
	f.IntVar(&b.cpus, "cpus", 2, "with --as: cores of a part")
	f.StringVar(&b.memory, "memory", "4G", "with --as: memory of a part, such as 4G")
	f.StringVar(&b.image, "image", "ghcr.io/oxgang/oxgang:"+imageTag(), "with --as kubernetes: container image")
	f.StringVar(&b.claim, "claim", "oxgang-sweep", "with --as kubernetes: persistent volume claim, writable by all pods, for the output directory")
}

func imageTag() string {
	if v := cli.Version(); released.MatchString(v) {
		return v
	}
	return "latest"
}

var (
	memoryForm = regexp.MustCompile(`^[1-9]\d*[MG]$`)
	notInName  = regexp.MustCompile(`[^a-z0-9]+`)
)

func (b *batch) write(w io.Writer, kind, file string, text []byte, sw *sweep.Sweep) error {
	form, known := batchTemplates[kind]
	switch {
	case !known:
		return cli.Misused("--as %q, want %s", kind, strings.Join(batchKinds(), " or "))
	case b.shards < 1 || b.cpus < 1:
		return cli.Misused("shards %d and cpus %d, want at least 1", b.shards, b.cpus)
	case !memoryForm.MatchString(b.memory):
		return cli.Misused("memory %q, want a number with M or G, such as 4G", b.memory)
	}
	if kind == "kubernetes" {
		if err := mounted(sw); err != nil {
			return err
		}
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if len(name) > 40 {
		name = strings.Trim(name[:40], "-")
	}
	shards := min(b.shards, len(sw.Runs()))
	return template.Must(template.New(kind).Parse(form)).Execute(w, map[string]any{
		"Name": strings.TrimSuffix("oxgang-"+name, "-"), "Shards": shards, "Last": shards - 1, "Runs": len(sw.Runs()),
		"CPUs": b.cpus, "Memory": b.memory, "Image": quoted(b.image), "Claim": quoted(b.claim), "Text": indented(text),
		"File": shellQuoted(absolute), "Out": shellQuoted(strings.TrimSuffix(absolute, filepath.Ext(absolute)) + "-sweep"),
	})
}

// mounted returns an error for input files that pods do not have: those not below /out.
func mounted(sw *sweep.Sweep) error {
	for _, r := range sw.Runs() {
		_, jobs := trace.Named(r.Config.Trace, r.Config.Format)
		for key, name := range map[string]string{"trace": jobs, "profiles": r.Config.Profiles, "lender.load": r.Config.Lender.Load} {
			if name != "" && !strings.HasPrefix(filepath.Clean(name), "/out/") {
				return cli.Hinted(fmt.Errorf("%s %s: pods do not have this file", key, name), "put it on the claim, which is mounted at /out, and use /out/%s", filepath.Base(name))
			}
		}
	}
	return nil
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func indented(text []byte) string {
	return strings.ReplaceAll(strings.TrimRight(string(text), "\n"), "\n", "\n    ")
}

// Each pod gets its part from JOB_COMPLETION_INDEX.
const kubernetesSweep = `# {{.Runs}} runs in {{.Shards}} parts: kubectl apply -f - . When all pods have ended, the tables are in directory
# {{.Name}} of the claim, which all pods must be able to write (ReadWriteMany).
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{.Name}}
data:
  sweep.yaml: |
    {{.Text}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}
spec:
  completionMode: Indexed
  completions: {{.Shards}}
  parallelism: {{.Shards}}
  backoffLimitPerIndex: 3
  template:
    spec:
      restartPolicy: Never
      securityContext: {runAsNonRoot: true, fsGroup: 65532}
      containers:
        - name: sweep
          image: {{.Image}}
          args: [lab, sweep, /sweep/sweep.yaml, --out, /out/{{.Name}}, --shard, $(JOB_COMPLETION_INDEX)/{{.Shards}}, --workers, "{{.CPUs}}"]
          resources:
            requests: {cpu: "{{.CPUs}}", memory: {{.Memory}}}
            limits: {memory: {{.Memory}}}
          volumeMounts:
            - {name: sweep, mountPath: /sweep}
            - {name: out, mountPath: /out}
      volumes:
        - name: sweep
          configMap: {name: {{.Name}}}
        - name: out
          persistentVolumeClaim: {claimName: {{.Claim}}}
`

// A requeued task runs only the missing runs.
const slurmSweep = `#!/bin/bash
# {{.Runs}} runs in {{.Shards}} parts. The directory of the file must be shared by all nodes. The tables are in {{.Out}} when all have ended.
#SBATCH --job-name={{.Name}}
#SBATCH --array=0-{{.Last}}
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{.Memory}}
#SBATCH --requeue
#SBATCH --output={{.Name}}-%a.log
exec oxgang lab sweep {{.File}} --out {{.Out}} --shard "$SLURM_ARRAY_TASK_ID/{{.Shards}}" --workers {{.CPUs}}
`
