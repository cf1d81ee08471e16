// Command date prints the time as package time, a new file and a program in C have it.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

func main() {
	fmt.Println(time.Now().Format(time.RFC3339))
	file, err := os.CreateTemp("", "rota-hours-")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	fmt.Println(info.ModTime().Format(time.RFC3339))
	cmd := exec.Command("date", "--rfc-3339=seconds")
	cmd.Env = []string{"TZ=UTC"} // without the variables that shift the clock
	out, err := cmd.Output()
	if err != nil {
		panic(err)
	}
	fmt.Print(string(out[:10]), "T", string(out[11:]))
}
