// Command fakegpu is a device plugin with simulated GPUs. Like NVIDIA's, it registers them with a node's kubelet,
// and tells containers which ones they have.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	plugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const period = 100 * time.Millisecond

const socket = "fakegpu.sock"

func main() {
	dir := flag.String("dir", "/var/lib/kubelet/device-plugins", "where the kubelet's socket is")
	gpus := flag.Int("gpus", 8, "devices, 1 to 1000")
	sick := flag.String("unhealthy", "", "file that names the devices that are unhealthy, one word each; it may change")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if *gpus < 1 || *gpus > 1000 {
		fmt.Fprintf(os.Stderr, "error: %d devices, want 1 to 1000\n", *gpus)
		os.Exit(2)
	}
	if err := serve(ctx, *dir, &devices{count: *gpus, file: *sick}); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// serve answers the kubelet. It registers again whenever the kubelet's socket changes: a kubelet removes the
// sockets of plugins at its start.
func serve(ctx context.Context, dir string, d *devices) error {
	var server *grpc.Server
	defer func() {
		if server != nil {
			server.Stop()
		}
	}()
	var known os.FileInfo
	for tick := time.NewTicker(period); ; {
		now, err := os.Stat(filepath.Join(dir, "kubelet.sock"))
		if err == nil && (known == nil || !os.SameFile(known, now) || !known.ModTime().Equal(now.ModTime())) {
			if server != nil {
				server.Stop()
			}
			if server, err = listen(dir, d); err != nil {
				return err
			}
			if err := register(ctx, dir); err == nil {
				known = now
				fmt.Println("registered")
			} else {
				fmt.Println(err) // the kubelet may not serve yet
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func listen(dir string, d *devices) (*grpc.Server, error) {
	path := filepath.Join(dir, socket)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer()
	plugin.RegisterDevicePluginServer(s, d)
	go func() { _ = s.Serve(l) }()
	return s, nil
}

func register(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := grpc.NewClient("unix://"+filepath.Join(dir, "kubelet.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	defer c.Close()
	_, err = plugin.NewRegistrationClient(c).Register(ctx, &plugin.RegisterRequest{
		Version: plugin.Version, Endpoint: socket, ResourceName: "nvidia.com/gpu",
	})
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return nil
}

type devices struct {
	plugin.UnimplementedDevicePluginServer
	count int
	file  string // names of unhealthy devices; "": none
}

func (d *devices) GetDevicePluginOptions(context.Context, *plugin.Empty) (*plugin.DevicePluginOptions, error) {
	return &plugin.DevicePluginOptions{}, nil
}

func (d *devices) ListAndWatch(_ *plugin.Empty, to grpc.ServerStreamingServer[plugin.ListAndWatchResponse]) error {
	last := "none was sent"
	for tick := time.NewTicker(period); ; {
		if sick := d.unhealthy(); sick != last {
			if err := to.Send(&plugin.ListAndWatchResponse{Devices: d.list(sick)}); err != nil {
				return err
			}
			last = sick
		}
		select {
		case <-tick.C:
		case <-to.Context().Done():
			return nil
		}
	}
}

func (d *devices) unhealthy() string {
	data, err := os.ReadFile(d.file)
	if err != nil {
		return ""
	}
	return " " + strings.Join(strings.Fields(string(data)), " ") + " "
}

func (d *devices) list(sick string) []*plugin.Device {
	var all []*plugin.Device
	for i := range d.count {
		one := &plugin.Device{ID: fmt.Sprintf("GPU-%d", i), Health: plugin.Healthy}
		if strings.Contains(sick, " "+one.ID+" ") {
			one.Health = plugin.Unhealthy
		}
		all = append(all, one)
	}
	return all
}

func (d *devices) Allocate(_ context.Context, r *plugin.AllocateRequest) (*plugin.AllocateResponse, error) {
	answer := &plugin.AllocateResponse{}
	for _, c := range r.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &plugin.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(c.DevicesIds, ",")},
		})
	}
	return answer, nil
}
