/** The smallest configuration that works, shown with every error and in the README. */
export const configExample = `  dataDir: /var/lib/kannuki
  lines:
    - serial: /dev/serial/by-id/usb-FTDI_USB-RS485_Cable-if00-port0
      baud: 9600
      devices:
        - { id: entrance-reader, address: 0 }
`;
