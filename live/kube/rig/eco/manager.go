package eco

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oxgang/oxgang/live/kube/rig"
)

type manager struct {
	name    Manager
	dir     string
	webhook string // https://127.0.0.1:port
	health  string // 127.0.0.1:port
	process *rig.Process
}

func run(c *rig.Cluster, m Manager, dir, bin string) (*manager, error) {
	home := filepath.Join(c.Dir, "eco-"+string(m))
	certs := filepath.Join(home, "k8s-webhook-server", "serving-certs") // the default below TMPDIR
	if err := os.MkdirAll(certs, 0o755); err != nil {
		return nil, err
	}
	pair, err := c.Authority.Server("127.0.0.1")
	if err != nil {
		return nil, err
	}
	if err := pair.Write(certs, "tls"); err != nil {
		return nil, err
	}
	var ports [2]int
	for i := range ports {
		if ports[i], err = rig.FreePort(); err != nil {
			return nil, err
		}
	}
	health := fmt.Sprintf("127.0.0.1:%d", ports[1])
	command := []string{filepath.Join(bin, origin[m].program), "--kubeconfig", c.Kubeconfig}
	switch m {
	case KubeRay:
		command = append(command, "--metrics-addr", "0", "--enable-leader-election=false", "--health-probe-bind-address", health)
	case Karpenter:
		command, err = provided(command[:1], home, ports)
	default:
		command, err = configured(command, m, home, certs, ports)
	}
	if err != nil {
		return nil, err
	}
	p, err := c.Run(origin[m].program, command[0], []string{"TMPDIR=" + home, "KUBECONFIG=" + c.Kubeconfig}, command[1:]...)
	return &manager{name: m, dir: dir, webhook: fmt.Sprintf("https://127.0.0.1:%d", ports[0]), health: health, process: p}, err
}

func configured(command []string, m Manager, home, certs string, ports [2]int) ([]string, error) {
	file, name := filepath.Join(home, "config.yaml"), string(m)
	if m == ElasticJobSet {
		name = string(JobSet)
	}
	err := rig.WriteConfig(config, name+".yaml", file, map[string]any{"Webhook": ports[0], "Health": ports[1], "Certs": certs, "Elastic": m == ElasticJobSet})
	if err != nil {
		return nil, err
	}
	command = append(command, "--config", file)
	if m != Kueue {
		return command, nil
	}
	script := filepath.Join(home, "kueue.sh")
	if err := rig.WriteConfig(config, "kueue.sh", script, nil); err != nil {
		return nil, err
	}
	return append([]string{
		"/usr/bin/unshare", "--mount", "--propagation", "private",
		"/bin/sh", script, certs, filepath.Join(home, "etc"),
	}, command...), nil
}

func provided(command []string, home string, ports [2]int) ([]string, error) {
	file := filepath.Join(home, "machines.json")
	if err := rig.WriteConfig(config, "machines.json", file, nil); err != nil {
		return nil, err
	}
	return append(command, "--disable-leader-election=true", "--instance-types-file-path", file,
		"--metrics-port", strconv.Itoa(ports[0]), "--health-probe-port", strconv.Itoa(ports[1])), nil
}
